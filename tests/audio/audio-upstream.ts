import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Busboy } from '@fastify/busboy'

interface AudioRequest {
  readonly path: string
  /** The JSON body, or the fields of a form. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into bodies and fail loudly on a wrong shape
  readonly body: any
  /** The file of a form, null for JSON. */
  readonly file: { filename: string; contentType: string; bytes: Buffer } | null
}

type Reply = (response: ServerResponse, request: AudioRequest) => void | Promise<void>

export interface AudioUpstream {
  readonly baseUrl: string
  readonly requests: AudioRequest[]
  /** The number of answers whose client closed the connection before the end. */
  readonly cuts: number
  /** Answers the next request with this reply instead of the default. */
  answerNext(reply: Reply): void
  close(): Promise<void>
}

export const TRANSCRIPT = {
  task: 'transcribe',
  language: 'english',
  duration: 2,
  text: 'Hello there. General Kenobi.',
  segments: [
    { id: 0, start: 0, end: 0.8, text: ' Hello there.' },
    { id: 1, start: 0.8, end: 2, text: ' General Kenobi.' },
  ],
  words: [
    { word: 'Hello', start: 0, end: 0.4 },
    { word: 'there', start: 0.4, end: 0.8 },
  ],
}

export const AUDIO = Buffer.from('ID3 this is an mp3 of the upstream')

/** Starts a server with OpenAI's API for speech and transcription. */
export async function startAudioUpstream(): Promise<AudioUpstream> {
  const requests: AudioRequest[] = []
  const replies: Reply[] = []
  let cuts = 0
  const server = createServer((incoming, response) => {
    response.on('close', () => {
      if (!response.writableFinished) cuts += 1
    })
    void readRequest(incoming).then((request) => {
      requests.push(request)
      return (replies.shift() ?? usualReply)(response, request)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get cuts() {
      return cuts
    },
    answerNext: (reply) => void replies.push(reply),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const json =
  (status: number, value: unknown): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

function usualReply(response: ServerResponse, { path }: AudioRequest): void {
  if (path.endsWith('/audio/speech')) response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(AUDIO)
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(TRANSCRIPT))
}

async function readRequest(incoming: IncomingMessage): Promise<AudioRequest> {
  const path = incoming.url ?? ''
  const contentType = incoming.headers['content-type'] ?? ''
  if (!contentType.startsWith('multipart/')) {
    let text = ''
    for await (const chunk of incoming) text += String(chunk)
    return { path, body: text === '' ? null : JSON.parse(text), file: null }
  }
  const body: Record<string, string> = {}
  let file: AudioRequest['file'] = null
  const parser = new Busboy({ headers: { 'content-type': contentType } })
  parser.on('field', (name, value) => {
    body[name] = value
  })
  parser.on('file', (_name, stream, filename, _encoding, type) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      file = { filename, contentType: type, bytes: Buffer.concat(chunks) }
    })
  })
  await new Promise((resolve, reject) => {
    parser.on('finish', resolve)
    parser.on('error', reject)
    incoming.on('close', () => reject(new Error('cut')))
    incoming.pipe(parser)
  }).catch(() => {})
  return { path, body, file }
}
