export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Parses the answers that a server wrote on one connection. Throws if one is incomplete. */
export function readAnswers(text: string): HttpAnswer[] {
  const answers: HttpAnswer[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) throw new Error(`no end of a head in ${JSON.stringify(rest.slice(0, 200))}`)
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(':')
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
      }),
    )
    const { body, length } = readBody(rest.slice(end + 4), headers)
    answers.push({ status: Number(line.split(' ')[1]), headers, body })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

function readBody(text: string, headers: Record<string, string>): { body: string; length: number } {
  if (headers['transfer-encoding'] !== 'chunked') {
    const length = Number(headers['content-length'] ?? 0)
    return { body: text.slice(0, length), length }
  }
  let body = ''
  for (let at = 0; ;) {
    const lineEnd = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
    if (size === 0 || Number.isNaN(size)) return { body, length: at }
  }
}
