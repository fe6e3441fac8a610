#!/bin/sh
# Runs inside the new root (chroot, no network needed): wheels, user, settings, then away with what a
# sandbox never reads. Its folder /.cellblock (wheels, lock, results) is left out of the image.
set -eu
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
packages=/usr/local/lib/python3.13/dist-packages
say() { echo "cellblock-progress $*" >&2; }

rm -f /usr/lib/python3.*/EXTERNALLY-MANAGED
if [ -d /.cellblock/wheels ]; then
    say 0.00 wheels: installing
    PYTHONPATH=$(echo /.cellblock/wheels/pip-*.whl) python3 -m pip install --quiet --no-index \
        --no-compile --no-deps --require-hashes --root-user-action=ignore --no-warn-script-location \
        --disable-pip-version-check --no-cache-dir --find-links /.cellblock/wheels -r /.cellblock/lock
fi

say 0.30 strip: removing tests, docs and caches
find /usr/lib/python3 /usr/lib/python3.13 "$packages" -depth -type d \
    \( -name __pycache__ -o -name tests -o -name idlelib \) -exec rm -rf {} + 2>/dev/null || true
rm -rf "$packages"/pyarrow/include "$packages"/pyarrow/src "$packages"/numpy/_core/include
find "$packages" -type f \( -name '*.pxd' -o -name '*.pyx' -o -name '*.a' -o -name '*.hpp' \) -delete 2>/dev/null || true
rm -rf /usr/share/doc/* /usr/share/man/* /usr/share/info/* /usr/share/locale/* /usr/share/lintian \
    /usr/share/bug /usr/share/javascript /usr/share/matplotlib/sample_data /var/cache/apt/* \
    /var/lib/apt/lists/* /var/cache/debconf/* /var/log/* /usr/share/python-wheels

say 0.40 user: accounts and settings
groupadd --gid 1000 user
useradd --uid 1000 --gid 1000 --create-home --shell /bin/bash user
printf 'user ALL=(ALL:ALL) NOPASSWD: ALL\n' >/etc/sudoers.d/user
printf 'Defaults !fqdn, !syslog, !use_pty\n' >/etc/sudoers.d/cellblock
chmod 440 /etc/sudoers.d/*
printf '127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost\n' >/etc/hosts
echo sandbox >/etc/hostname
: >/etc/machine-id
rm -f /etc/resolv.conf && : >/etc/resolv.conf
printf 'LANG=C.UTF-8\n' >/etc/default/locale
printf 'LANG=C.UTF-8\n' >>/etc/environment
ln -sf /usr/bin/python3 /usr/local/bin/python
ln -sfn /proc/mounts /etc/mtab
mkdir -p /opt/cellblock /var/lib/cellblock/artifacts /usr/local/share/jupyter/kernels

say 0.45 compile: byte code for the standard library and all packages
# unchecked-hash: never stale, never recompiled, whatever the time stamps say.
PYTHONDONTWRITEBYTECODE= python3 -m compileall -q -f -j 0 --invalidation-mode unchecked-hash \
    /usr/lib/python3.13 /usr/lib/python3/dist-packages "$packages" >/.cellblock/compile.log 2>&1 || true

say 0.90 fonts: matplotlib cache
prime="import matplotlib; matplotlib.use('agg'); import matplotlib.font_manager"
HOME=/root python3 -c "$prime" 2>/dev/null
setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/user python3 -c "$prime" 2>/dev/null

say 0.95 check: every package can be imported
python3 /.cellblock/check.py
dpkg-query -W -f '${Package}\t${Version}\n' >/.cellblock/packages.tsv
python3 -c "
import importlib.metadata as m
for d in sorted(m.distributions(path=['$packages']), key=lambda d: d.name.lower()):
    print(d.name, d.version, sep='\t')" >/.cellblock/wheels.tsv
python3 -c 'import platform; print(platform.python_version())' >/.cellblock/python
# The kernels that the gateway offers: every kernelspec of the image, /usr/local's before Debian's.
python3 -c "
import json, pathlib
specs = {}
for root in ('/usr/share/jupyter/kernels', '/usr/local/share/jupyter/kernels'):
    for path in sorted(pathlib.Path(root).glob('*/kernel.json')):
        specs[path.parent.name.lower()] = json.loads(path.read_text())
print(json.dumps(specs))" >/.cellblock/kernelspecs.json
rm -rf /tmp/* /var/tmp/* /root/.cache/pip /etc/apt/sources.list.d/0000*.list
