// Waits for something that no event tells of, such as a file that another process writes.

/** Resolves as soon as the condition holds. @throws after the limit, with what was waited for. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, limitMs = 20_000): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > endsAt) throw new Error(`waited in vain until ${what}`);
    await Bun.sleep(5);
  }
}
