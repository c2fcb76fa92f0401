// Types of source-hash.mjs, which is plain JavaScript because Node runs it before anything is installed.
export function sourceHash(rootDir: string): string;
