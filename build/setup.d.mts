// Types of what TypeScript uses of setup.mjs, which is plain JavaScript because Node runs it before anything is installed.
export function npm(args: readonly string[], cwd: string): void;
export function say(message: string): void;
