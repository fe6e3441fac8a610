"""The guest's end of a kernel: ipykernel, made fit for a cloned microVM.

What is where:
  zygote.py      fork server: has the libraries loaded, forks one kernel per request
  launch.py      the same kernel, started the plain way (kernelspec argv)
  app.py         the kernel application: sockets, streams, start-up order
  kernel.py      CellblockKernel: per-execution environment, stdin policy, interrupts
  shell.py       the IPython shell: tracebacks without frames of this package
  streams.py     stdout and stderr: cut, paced, ordered with what child processes write
  iopub.py       the iopub sender: no message is dropped, no queue grows without bound
  identity.py    makes a cloned kernel differ from its siblings (PRNGs, ids)
  environment.py environment variables and working directory of one execution
  startup.py     registers the display formatters of the sibling packages
  warmup.py      what a template does once, so that no clone has to
"""

__version__ = "0.1.0"
