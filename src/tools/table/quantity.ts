// Numbers as people write them in tables: exact decimals, with a unit or a currency beside them. Never floating point, so
// that 0.1 and 0.2 make 0.3.
import { ToolError } from "../../core/error.ts";

export interface Quantity {
  /** The value is `digits` / 10 ** `scale`. */
  digits: bigint;
  scale: number;
  /** "" = none. */
  unit: string;
}

/** Which sign stands before the decimals; the other one may group thousands. */
export type DecimalMark = "." | ",";

/** The decimal mark of a column: a comma where some number can only be read so. */
export function decimalMarkOf(cells: readonly string[]): DecimalMark {
  return cells.some((cell) => /^[^\d,.]*\d{1,3}(\.\d{3})*,(\d{1,2}|\d{4,})[^\d,.]*$|^[^\d,.]*\d{4,},\d+[^\d,.]*$/.test(cell.trim())) ? "," : ".";
}

/** undefined for what is no number. */
export function quantityOf(text: string, mark: DecimalMark): Quantity | undefined {
  if (/^\d{1,15}$/.test(text)) return { digits: BigInt(text), scale: 0, unit: "" };
  const match = form.exec(text.trim());
  if (!match) return undefined;
  const [, open = "", sign = "", currency = "", number = "", exponent = "0", suffix = "", close = ""] = match;
  if ((open === "") !== (close === "") || (currency !== "" && suffix !== "")) return undefined;
  const grouped = mark === "." ? /^\d{1,3}([,'_ \u00a0\u202f]\d{3})+(\.\d+)?$/ : /^\d{1,3}([.'_ \u00a0\u202f]\d{3})+(,\d+)?$/;
  const plainNumber = mark === "." ? /^(\d+(\.\d*)?|\.\d+)$/ : /^(\d+(,\d*)?|,\d+)$/;
  if (!grouped.test(number) && !plainNumber.test(number)) return undefined;
  const [whole = "", decimals = ""] = number.split(mark).map((part) => part.replace(/\D/g, ""));
  const scale = decimals.length - Number(exponent);
  if (Math.abs(scale) > scaleMax || whole.length > scaleMax) return undefined;
  const size = BigInt(whole + decimals) * 10n ** BigInt(Math.max(0, -scale));
  return { digits: sign === "-" || sign === "−" || open !== "" ? -size : size, scale: Math.max(0, scale), unit: currency || suffix };
}

/** @throws ToolError when units differ */
export function compareQuantities(a: Quantity, b: Quantity): number {
  requireOneUnit([a, b]);
  const scale = Math.max(a.scale, b.scale);
  const difference = atScale(a, scale) - atScale(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The sum of at least one. @throws ToolError when units differ */
export function sumOf(quantities: readonly Quantity[]): Quantity {
  const unit = requireOneUnit(quantities);
  const scale = Math.max(...new Set(quantities.map((one) => one.scale)));
  return { digits: quantities.reduce((sum, one) => sum + atScale(one, scale), 0n), scale, unit };
}

/** Rounded to six decimals more than the sum has, half away from zero. */
export function averageOf(sum: Quantity, count: number): Quantity {
  const more = 6;
  const numerator = sum.digits * 10n ** BigInt(more) * 2n;
  const divisor = BigInt(count);
  const half = numerator < 0n ? -divisor : divisor;
  return { digits: (numerator + half) / (2n * divisor), scale: sum.scale + more, unit: sum.unit };
}

/** `12.5 km`, `$3`, without zeros at its end. */
export function quantityText({ digits, scale, unit }: Quantity): string {
  const size = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const decimals = scale === 0 ? "" : size.slice(-scale).replace(/0+$/, "");
  const number = `${digits < 0n ? "-" : ""}${size.slice(0, size.length - scale)}${decimals === "" ? "" : `.${decimals}`}`;
  if (unit === "") return number;
  return currencies.includes(unit) ? `${unit}${number}` : unit === "%" ? `${number}%` : `${number} ${unit}`;
}

const currencies = "$€£¥₹";
/** Parentheses of an accountant's negative number, sign, currency, digits with marks, exponent, a unit of one word. */
const form = /^(\(?)([-+−]?)\s*([$€£¥₹]?)\s*([\d.,][\d.,'_ \u00a0\u202f]*?)(?:[eE]([+-]?\d{1,3}))?\s*([%$€£¥₹]|[°µ]?\p{L}+(?:\/\p{L}+)?)?(\)?)$/u;
/** Digits of a number before or after its mark. */
const scaleMax = 400;

function atScale({ digits, scale }: Quantity, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - scale);
}

function requireOneUnit(quantities: readonly Quantity[]): string {
  const units = [...new Set(quantities.map(({ unit }) => unit))].filter((unit) => unit !== "");
  if (units.length > 1) throw new ToolError(`these numbers have different units (${units.slice(0, 5).join(", ")}) and can't be put together`);
  return units[0] ?? "";
}
