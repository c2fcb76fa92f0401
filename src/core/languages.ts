// What the ends of file names are called, as people speak of such files.
/** As people call the files with such an end. */
export const languages: ReadonlyMap<string, string> = new Map([[".c", "C"], [".cpp", "C++"], [".cs", "C#"], [".css", "CSS"], [".go", "Go"], [".html", "HTML"], [".java", "Java"], [".js", "JavaScript"], [".md", "Markdown"], [".php", "PHP"], [".py", "Python"], [".rb", "Ruby"], [".rs", "Rust"], [".sh", "shell"], [".ts", "TypeScript"], [".txt", "text"]]);
