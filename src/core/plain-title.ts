// The first line of a Markdown document that looks like a heading without its mark.

const titleCharsMax = 60;

/** undefined where the document begins otherwise. */
export function plainTitle(document: string): string | undefined {
  const [first = "", second] = document.split(/\r?\n/);
  const standsAlone = second !== undefined && (second === "" || /^\s*(?:[-*+]|\d+\.) /.test(second));
  return standsAlone && first.length <= titleCharsMax && /^[\p{L}\p{N}][^.!?:;,|]*$/u.test(first) ? first : undefined;
}
