import type { Post } from './post-dispatcher.ts'

/** A whole request as the text of one write. */
export interface WrittenPost {
  readonly text: string
  readonly encoding: 'latin1' | 'utf8'
}

/** Writes requests to one origin. Throws where the path or a header could not be sent as it is. */
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
    // Text of one byte a character needs no encoding, and most of it is.
    return { text, encoding: bodyBytes === body.length ? 'latin1' : 'utf8' }
  }
}

function writeHeaders(headers: readonly string[]): string {
  let lines = ''
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    // Names are ours, values can be an operator's. A value can be a secret, and is not repeated.
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
