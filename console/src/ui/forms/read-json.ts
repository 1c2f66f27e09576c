type ReadJson = { readonly value: unknown; readonly problem: null } | { readonly problem: string }

/** Parses JSON that a person wrote. The problem says where it is, if the browser tells. */
export function readJson(text: string): ReadJson {
  try {
    return { value: JSON.parse(text) as unknown, problem: null }
  } catch (error) {
    return { problem: explain(text, error instanceof Error ? error.message : '') }
  }
}

/** Browsers tell the place as an offset, as line and column, or not at all. */
function explain(text: string, message: string): string {
  const offset = /position (\d+)/.exec(message)?.[1]
  const told = /line (\d+) column (\d+)/.exec(message)
  const what = message
    .replace(/^JSON\.parse: /, '')
    .replace(/ (?:in JSON )?at (?:position|line) .*$/s, '')
    .replace(/, "?[^]*"? is not valid JSON$/, '')
    .replace(/ in JSON$/, '')
  if (told !== null) return `Line ${told[1]}, column ${told[2]}: ${what}.`
  if (offset === undefined)
    return /end of/.test(message) ? 'The JSON ends too early.' : `This is not JSON: ${what}.`
  const before = text.slice(0, Number(offset)).split('\n')
  return `Line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${what}.`
}
