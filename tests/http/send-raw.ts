import { connect } from 'node:net'

/** Writes raw bytes to a server and returns what it sent until it closed the connection. */
export async function sendRaw(baseUrl: string, ...pieces: readonly (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect({ host: hostname, port: Number(port) })
  let answer = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    answer += text
  })
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
  })
  // A server that closes early resets the connection; the answer received before that is used.
  socket.on('error', () => {})
  for (const piece of pieces) socket.write(piece)
  await closed
  return answer
}

export interface RawAnswer {
  status: number
  head: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  body: any
}

/** Parses the first answer in the text that a server sent. */
export function parseRaw(answer: string): RawAnswer {
  const end = answer.indexOf('\r\n\r\n')
  const head = answer.slice(0, end).toLowerCase()
  const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0)
  return {
    status: Number(head.split(' ')[1]),
    head,
    body: JSON.parse(answer.slice(end + 4, end + 4 + length)),
  }
}
