/**
 * An upstream that speaks the OpenAI wire and costs as little as possible, run as its own process:
 * `node bench/mock-upstream.ts <port>`. It answers from prebuilt bytes. A streamed answer follows the marker
 * `[[chunks=N pace=P]]` in the prompt (P chunks a second, 0 for all at once), because the prompt is the one thing that
 * every gateway forwards unchanged.
 */
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { HttpMessageParser } from './http-message-parser.ts'

const TICK_MS = 4
const CHUNKS_MAX = 100_000
const CATCH_UP_CHUNKS_MAX = 10
const BODY_BYTES_MAX = 4 * 1024 * 1024
const UNSENT_BYTES_MAX = 4 * 1024 * 1024

interface PacedStream {
  readonly socket: Socket
  readonly ending: Buffer
  readonly paceMs: number
  remainingChunks: number
  dueAtMs: number
}

const answers = buildAnswers()
const embeddings = buildEmbeddings()
const image = buildImage()
const pacedStreams = new Set<PacedStream>()

const server = createServer({ noDelay: true }, serveConnection)
server.listen(Number(process.argv[2]), '127.0.0.1', 4096)
setInterval(sendDueChunks, TICK_MS)
// The benchmark holds the other end of this channel: when it dies, however it dies, so does the mock.
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
        else answerRequest(socket, body)
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

function answerRequest(socket: Socket, body: string): void {
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
      stream.socket.write(answers.chunk)
      stream.remainingChunks -= 1
      stream.dueAtMs += stream.paceMs
    }
  }
}

function buildAnswers() {
  const base = { id: 'chatcmpl-mock0000000000000000', created: 1_760_000_000, model: 'gpt-4o-mini' }
  const usage = {
    prompt_tokens: 112,
    completion_tokens: 24,
    total_tokens: 136,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
  const complete = JSON.stringify({
    ...base,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content:
            'A mock answers at once, with the same bytes each time, so that only the way there counts.',
          refusal: null,
        },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage,
    system_fingerprint: 'fp_mock',
  })
  const streamed = (choices: object[], extra: object = {}) =>
    frame({ ...base, object: 'chat.completion.chunk', choices, ...extra })
  const delta = (content: object, finishReason: string | null) => [
    { index: 0, delta: content, logprobs: null, finish_reason: finishReason },
  ]
  const finish = streamed(delta({}, 'stop'))
  const done = Buffer.concat([chunkOf('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')])
  return {
    complete: wholeAnswer(complete),
    streamHead: Buffer.from(
      'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n',
    ),
    firstChunk: streamed(delta({ role: 'assistant', content: '' }, null)),
    chunk: streamed(delta({ content: ' token' }, null)),
    ending: Buffer.concat([finish, done]),
    endingWithUsage: Buffer.concat([finish, streamed([], { usage }), done]),
  }
}

/** A vector of the usual length, indented as OpenAI indents it. */
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

/** The smallest picture there is: what is measured is all that happens around it. */
function buildImage(): Buffer {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const usage = { total_tokens: 60, input_tokens: 10, output_tokens: 50 }
  return wholeAnswer(JSON.stringify({ created: 1_760_000_000, data: [{ b64_json: png }], usage }))
}

function wholeAnswer(json: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  )
}

function frame(payload: object): Buffer {
  return chunkOf(`data: ${JSON.stringify(payload)}\n\n`)
}

function chunkOf(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
}
