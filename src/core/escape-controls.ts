// Text from files, models and commands on its way to a person: nothing in it may move the cursor, change colours or turn
// the direction of what follows.

const dangerous = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

/** Control characters, direction overrides and invisible characters as `\xHH` or `\uHHHH`; tab and line feed stay. */
export function escapeControls(text: string): string {
  return text.replace(dangerous, escaped);
}

/** The same on one line: tab and line feed are escaped as well. */
export function escapeLine(text: string): string {
  return escapeControls(text).replace(/[\t\n]/g, escaped);
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
