// Values as people read them.

const thousands = new Intl.NumberFormat("en");

export const counted = (count: number, noun: string): string =>
  `${thousands.format(count)} ${noun}${count === 1 ? "" : "s"}`;

export const grouped = (count: number): string => thousands.format(count);

export function fileSize(bytes: number): string {
  if (bytes < 1024) return counted(bytes, "byte");
  const units = ["KiB", "MiB", "GiB"];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

// Six significant digits are enough to read; the cell's title has all.
export function cellText(value: unknown): string {
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(6)));
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  const text = String(value);
  const midnight = /^(\d{4}-\d\d-\d\d)T00:00:00$/.exec(text);
  return midnight ? midnight[1] : text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/, "$1 $2");
}
