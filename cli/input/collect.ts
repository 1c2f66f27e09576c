/** Collects an option that may be given more than once. */
export const collect = (value: string, before: readonly string[] = []): string[] => [...before, value]
