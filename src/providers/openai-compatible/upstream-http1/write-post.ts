import type { Post } from './post-dispatcher.ts'

/** A complete request as the text of one write. */
export interface WrittenPost {
  readonly text: string
  readonly encoding: 'latin1' | 'utf8'
}

/** Returns a function that writes requests to one origin. It throws if the path or a header contains forbidden characters. */
export function createPostWriter(origin: URL): (post: Post<string>) => WrittenPost {
  const hostLines = ` HTTP/1.1\r\nhost: ${origin.host}\r\nconnection: keep-alive\r\n`
  let lastPath: string | null = null
  let firstLines = ''
  return ({ path, headers, body }) => {
    if (path !== lastPath) {
      firstLines = `POST ${checkPath(path)}${hostLines}`
      lastPath = path
    }
    const bodyBytes = Buffer.byteLength(body)
    const text = `${firstLines}${writeHeaders(headers)}content-length: ${bodyBytes}\r\n\r\n${body}`
    // Most requests are ASCII, for which latin1 is the faster encoding.
    return { text, encoding: bodyBytes === body.length ? 'latin1' : 'utf8' }
  }
}

function writeHeaders(headers: readonly string[]): string {
  let lines = ''
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    // Names are constants, but values may come from the operator. The error omits the value, because it may be a secret.
    if (!VALUE.test(value)) throw new TypeError(`the header ${name} cannot be sent`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

function checkPath(path: string): string {
  if (!PATH.test(path)) throw new TypeError(`the path ${JSON.stringify(path)} cannot be asked for`)
  return path
}

const VALUE = /^[\t\x20-\x7e]*$/
const PATH = /^\/[\x21-\x7e]*$/
