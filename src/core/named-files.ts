// The files that a text speaks of, read off their names: for telling which of them are not there.

const extensions = new Set(
  "bat c cc cfg conf cpp cs css csv cxx doc docx env gif go gz h hpp htm html ini ipynb java jpeg jpg js json jsonc jsonl jsx kt less log lua md mjs odt pdf php pl png ps1 py r rb rs rst sass scala scss sh sql sqlite svg swift tar tex toml ts tsv tsx txt vue xls xlsx xml yaml yml zip".split(" "),
);

/** Relative paths with a usual extension, each once, as they are written. */
export function namedFiles(text: string): string[] {
  const found = text.match(/(?<![\w/.~:@-])(?:\.\/)?[\p{L}\p{N}_-][\p{L}\p{N}_/.-]*\.[a-z0-9]{1,6}(?![\w/-])/giu) ?? [];
  const names = found.filter((name) => extensions.has(name.slice(name.lastIndexOf(".") + 1).toLowerCase()) && !name.includes(".."));
  return [...new Set(names.map((name) => name.replace(/^\.\//, "")))];
}
