/** Reads the beginning of a file of results. A first line that is longer, as those with images are, has an error instead of its answer. */
export function readResultLines(text: string, isCut: boolean): ResultLine[] {
  const end = isCut ? text.lastIndexOf('\n') : text.length
  if (end === -1) return [cutLine(text)]
  const lines = text.slice(0, end).split('\n')
  return lines.filter((line) => line !== '').map((line): ResultLine => JSON.parse(line))
}

const ID = /"custom_id":("(?:[^"\\]|\\.)*")/

function cutLine(text: string): ResultLine {
  const [, id] = ID.exec(text) ?? []
  return {
    custom_id: id === undefined ? '' : String(JSON.parse(id)),
    response: null,
    error: { code: 'too_long', message: 'The line is too long to be shown here.' },
  }
}

/** A line of a file of results of a batch. */
export interface ResultLine {
  readonly custom_id: string
  readonly response: { readonly status_code: number; readonly body: unknown } | null
  readonly error: { readonly code: string; readonly message: string } | null
}
