// Text from files, models and commands on its way to a terminal: nothing in it may move the cursor, change colours or
// turn the direction of what follows.

const dangerous = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** Control characters and direction overrides as `\xHH` or `\uHHHH`; tab and line feed stay. */
export function escapeControls(text: string): string {
  return text.replace(dangerous, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}
