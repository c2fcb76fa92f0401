// The words of a text, as people and programs write them, for telling whether two texts speak of the same.

/** Said in most texts, whatever they are about. */
const common = new Set("about above add after all also and any are bring can change content contents could create delete does edit every everything file files find fix folder folders for from give has have her here his how into its just last line lines list look make more move name names need new not now off old one only open our out over please print put read remove rename run set should show take tell text than that the their them then there these they this those too two want was were what when where which who will with word words would write you your".split(" "));

/** Letters; two digits of a number. */
const shortest = 3;

/** Each once; of names also the words in them: `KEEP_DAYS`, `KEEP`, `DAYS`. */
export function wordsOf(text: string): string[] {
  const names = text.match(/[\p{L}_][\p{L}\p{N}_]*|\d+/gu) ?? [];
  const parts = names.flatMap((name) => name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\d+/gu) ?? []);
  return [...new Set([...names, ...parts])].filter((word) => word.length >= shortest || /^\d{2,}$/.test(word));
}

export function isCommonWord(word: string): boolean {
  return common.has(word.toLowerCase());
}

/** Without capitals and the usual endings, crudely: `Backups` and `backup` become one. */
export function stemOf(word: string): string {
  const lower = word.toLowerCase();
  return lower.length > shortest ? lower.replace(/(?:ies|y)$/, "i").replace(/(?:ing|ed|es|s|e)$/, "") : lower;
}
