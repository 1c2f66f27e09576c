/**
 * A mock upstream for OpenAI's wires and Anthropic's Messages, as cheap as possible, in its own process: `node
 * bench/mock-upstream.ts <port>`. It answers from prebuilt bytes. The marker `[[chunks=N pace=P]]` in the prompt controls a
 * stream (P chunks a second, 0 for all at once), because every gateway forwards the prompt unchanged.
 */
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { HttpMessageParser } from './http-message-parser.ts'
import {
  buildChatAnswers,
  buildMessageAnswers,
  buildResponseAnswers,
  wholeAnswer,
  type WireAnswers,
} from './mock-answers.ts'

const TICK_MS = 4
const CHUNKS_MAX = 100_000
const CATCH_UP_CHUNKS_MAX = 10
const BODY_BYTES_MAX = 4 * 1024 * 1024
const UNSENT_BYTES_MAX = 4 * 1024 * 1024

interface PacedStream {
  readonly socket: Socket
  readonly chunk: Buffer
  readonly ending: Buffer
  readonly paceMs: number
  remainingChunks: number
  dueAtMs: number
}

const chatAnswers = buildChatAnswers()
const answersByPath = new Map([
  ['/v1/messages', buildMessageAnswers()],
  ['/v1/responses', buildResponseAnswers()],
])
const embeddings = buildEmbeddings()
const image = buildImage()
const pacedStreams = new Set<PacedStream>()

const server = createServer({ noDelay: true }, serveConnection)
server.listen(Number(process.argv[2]), '127.0.0.1', 4096)
setInterval(sendDueChunks, TICK_MS)
// The benchmark has the other end of this channel. When it exits, for whatever reason, the mock exits too.
process.on('disconnect', () => process.exit(0))

function serveConnection(socket: Socket): void {
  let body = ''
  let path = ''
  const parser = new HttpMessageParser(
    {
      onHead: (head) => {
        body = ''
        path = head.split(' ', 2)[1] ?? ''
      },
      onBody: (bytes) => {
        if (body.length < BODY_BYTES_MAX) body += bytes.toString('latin1')
      },
      onEnd: () => {
        if (path === '/v1/embeddings') socket.write(embeddings[/"base64"/.test(body) ? 'base64' : 'float'])
        else if (path === '/v1/images/generations') socket.write(image)
        else answerRequest(socket, body, answersByPath.get(path) ?? chatAnswers)
      },
    },
    { isBodyEndedByClose: false },
  )
  socket.on('data', (bytes: Buffer) => {
    try {
      parser.push(bytes)
    } catch {
      socket.destroy()
    }
  })
  socket.on('error', () => socket.destroy())
}

function answerRequest(socket: Socket, body: string, answers: WireAnswers): void {
  if (!/"stream": *true/.test(body)) {
    socket.write(answers.complete)
    return
  }
  const marker = /\[\[chunks=(\d+) pace=(\d+)\]\]/.exec(body)
  const chunkCount = Math.min(Number(marker?.[1] ?? 16), CHUNKS_MAX)
  const chunksPerSecond = Number(marker?.[2] ?? 0)
  const ending = /"include_usage": *true/.test(body) ? answers.endingWithUsage : answers.ending
  if (chunksPerSecond === 0) {
    const chunks = Array.from({ length: Math.max(0, chunkCount - 1) }, () => answers.chunk)
    socket.write(Buffer.concat([answers.streamHead, answers.firstChunk, ...chunks, ending]))
    return
  }
  const paceMs = 1000 / chunksPerSecond
  socket.write(Buffer.concat([answers.streamHead, answers.firstChunk]))
  const stream = {
    socket,
    chunk: answers.chunk,
    ending,
    paceMs,
    remainingChunks: chunkCount - 1,
    dueAtMs: performance.now() + paceMs,
  }
  pacedStreams.add(stream)
  socket.once('close', () => pacedStreams.delete(stream))
}

function sendDueChunks(): void {
  const nowMs = performance.now()
  for (const stream of pacedStreams) {
    for (let sent = 0; sent < CATCH_UP_CHUNKS_MAX && stream.dueAtMs <= nowMs; sent += 1) {
      if (stream.remainingChunks === 0 || stream.socket.writableLength > UNSENT_BYTES_MAX) {
        stream.socket.write(stream.ending)
        pacedStreams.delete(stream)
        break
      }
      stream.socket.write(stream.chunk)
      stream.remainingChunks -= 1
      stream.dueAtMs += stream.paceMs
    }
  }
}

/** Builds a vector of the usual length, indented as OpenAI indents it. */
function buildEmbeddings() {
  const vector = Float32Array.from({ length: 1536 }, (_, index) => Math.sin(index + 1) / 28)
  const answerOf = (embedding: unknown) =>
    wholeAnswer(
      JSON.stringify(
        {
          object: 'list',
          data: [{ object: 'embedding', index: 0, embedding }],
          model: 'text-embedding-3-small',
          usage: { prompt_tokens: 48, total_tokens: 48 },
        },
        null,
        2,
      ),
    )
  return { base64: answerOf(Buffer.from(vector.buffer).toString('base64')), float: answerOf([...vector]) }
}

/** Builds the smallest possible image, so that only the work around it is measured. */
function buildImage(): Buffer {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const usage = { total_tokens: 60, input_tokens: 10, output_tokens: 50 }
  return wholeAnswer(JSON.stringify({ created: 1_760_000_000, data: [{ b64_json: png }], usage }))
}
