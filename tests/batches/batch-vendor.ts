import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SHOW_BATCH, type VendorBatch } from './show-vendor-batch.ts'
import type { VendorFaults } from './vendor-faults.ts'
import { answerOf, isLikeOpenAi, writeResult, type Form, type Line } from './vendor-answers.ts'

/** A server with the batch APIs of five vendors, by their documentation, and with an invoice of its own. */
export async function startBatchVendor() {
  const files = new Map<string, { readonly text: string; readonly filename: string; looks: number }>()
  /** Submissions that are let in later. */
  const held: (() => void)[] = []
  const batches = new Map<string, VendorBatch>()
  /** The prompts that were answered: in batches, and one by one. */
  const invoice = { batch: [] as string[], single: [] as string[] }
  const asked: string[] = []
  const state = { faults: {} as VendorFaults }
  let count = 0

  /** Counts down a fault. */
  const takes = (fault: 'silentUploads' | 'held'): boolean => {
    const left = state.faults[fault] ?? 0
    if (left > 0) state.faults[fault] = left - 1
    return left > 0
  }
  const make = (
    form: Form,
    lines: readonly Line[],
    name: string | null,
    file = '',
  ): VendorBatch | null | undefined => {
    if (takes('held')) {
      held.push(() => make(form, lines, name, file))
      return undefined
    }
    if ((state.faults.throttled ?? 0) > 0) {
      state.faults.throttled = (state.faults.throttled ?? 0) - 1
      return null
    }
    count += 1
    const isLost = (state.faults.lost ?? 0) > 0
    if (isLost) state.faults.lost = (state.faults.lost ?? 0) - 1
    const batch: VendorBatch = {
      id: `batch_${count}`,
      form,
      lines,
      name,
      file,
      createdAtMs: Date.now(),
      looks: 0,
      isLost,
      isCancelled: false,
      isBilled: false,
    }
    batches.set(batch.id, batch)
    return batch
  }
  const hasEnded = (batch: VendorBatch): boolean =>
    state.faults.answersWhenCancelled === undefined
      ? batch.looks > (state.faults.looks ?? 1)
      : batch.isCancelled
  const isAnswered = (batch: VendorBatch, { prompt }: Line): boolean =>
    state.faults.expires?.(prompt) !== true &&
    (!batch.isCancelled ||
      batch.lines.findIndex((line) => line.prompt === prompt) < (state.faults.answersWhenCancelled ?? 0))
  const results = (batch: VendorBatch): object[] => {
    const shown = batch.lines.map((line) => {
      const isFailed = state.faults.fails?.(line.prompt) === true
      const answered = isAnswered(batch, line)
      if (!batch.isBilled && answered && !isFailed) invoice.batch.push(line.prompt)
      return writeResult(
        batch.form,
        line,
        answered ? (isFailed ? 'failed' : 'answered') : 'expired',
        state.faults.usage,
      )
    })
    batch.isBilled = true
    if (state.faults.isTwice !== true) return shown
    const strange = writeResult(batch.form, { id: 'somebody-1', prompt: 'strange' }, 'answered')
    const beyond = writeResult(batch.form, { id: `${batch.lines[0]?.id}99999`, prompt: 'beyond' }, 'answered')
    return [strange, ...shown, beyond, ...shown]
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await readText(request)
    const { pathname: path, search } = new URL(request.url ?? '/', 'http://vendor')
    asked.push(`${request.method} ${path}${search}`)
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0.05' })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
    const made = (batch: VendorBatch | null | undefined): void => {
      if (batch === undefined) return
      if (state.faults.refuses === true) return send(400, { error: { message: 'no batches of this model' } })
      if (batch === null) return send(429, { error: { message: 'too many batches' } })
      if ((state.faults.unanswered ?? 0) > 0) {
        state.faults.unanswered = (state.faults.unanswered ?? 0) - 1
        response.destroy()
        return
      }
      send(200, batch.form === 'together' ? { job: show(batch) } : show(batch))
    }
    const show = (batch: VendorBatch): object =>
      SHOW_BATCH[batch.form](batch, hasEnded(batch), () => results(batch))
    const [, form, ...parts] = path.split('/')
    if (isLikeOpenAi(form)) {
      if (form === 'azure' && request.headers['api-key'] === undefined) return send(401, { error: {} })
      if (path.endsWith(form === 'together' ? '/files/upload' : '/files') && request.method === 'POST') {
        const id = `file-${(count += 1)}`
        const filename = /filename="([^"]*)"/.exec(text)?.[1] ?? ''
        const isNamed = text.includes('name="file_name"') && text.includes('batch-api')
        if (form === 'together' && !isNamed) return send(400, { error: { message: 'no file_name' } })
        files.set(id, { text, filename, looks: 0 })
        return takes('silentUploads') ? undefined : send(200, { id })
      }
      const file = files.get(parts[2] ?? '')
      if (request.method === 'GET' && parts[1] === 'files' && parts.length === 3) {
        if (file === undefined) return send(404, { error: { message: 'no such file' } })
        file.looks += 1
        return send(200, { id: parts[2], status: file.looks > 1 ? 'processed' : 'pending' })
      }
      if (path.endsWith('/files')) {
        const listed = [...files].map(([id, { filename }]) => ({
          id,
          filename,
          created_at: Date.now() / 1_000,
        }))
        return send(200, { data: listed.toReversed() })
      }
      if (path.endsWith('/content')) {
        if (state.faults.redirect !== undefined) {
          response.writeHead(302, { location: state.faults.redirect })
          return void response.end()
        }
        const batch = batches.get((parts[2] ?? '').replace('out-', ''))
        return send(200, batch === undefined ? '' : toLines(results(batch)))
      }
      if (request.method === 'DELETE') {
        files.delete(parts[2] ?? '')
        return send(200, { deleted: true })
      }
      if (path.endsWith('/batches') && request.method === 'POST') {
        const { input_file_id: file, metadata, endpoint } = JSON.parse(text)
        const isReady = form !== 'azure' || ((files.get(file)?.looks ?? 0) > 1 && !endpoint.startsWith('/v1'))
        if (!isReady) return send(400, { error: { message: 'the file is not processed' } })
        const lines = (files.get(file)?.text ?? '')
          .split('\n')
          .filter((line) => line.startsWith('{"custom_id"'))
        const read = lines.map((line) => JSON.parse(line.trim()))
        // Only deployments for batches take them.
        if (form === 'azure' && !read.every(({ body }) => body.model.endsWith('-batch')))
          return send(400, { error: { message: 'no deployment for batches' } })
        const named = read.map(({ custom_id: id, body }) => ({ id, prompt: promptOf(body) }))
        return made(state.faults.refuses ? null : make(form, named, metadata?.parkway_part ?? null, file))
      }
      if (path.endsWith('/batches')) {
        const shown = [...batches.values()].map(show)
        return send(200, form === 'together' ? shown : { data: shown })
      }
      if (path.endsWith('/chat/completions')) {
        const prompt = promptOf(JSON.parse(text))
        if (state.faults.fails?.(prompt)) return send(400, { error: { message: 'a bad prompt' } })
        invoice.single.push(prompt)
        return send(200, answerOf(form, prompt))
      }
    }
    if (form === 'anthropic') {
      if (path.endsWith('/results'))
        return send(200, toLines(results(batches.get(parts[3] ?? '') ?? NOTHING)))
      if (request.method === 'DELETE') return send(200, { type: 'message_batch_deleted' })
      if (path.endsWith('/batches') && request.method === 'POST') {
        const { requests } = JSON.parse(text)
        const lines = requests.map(({ custom_id: id, params }: { custom_id: string; params: unknown }) => ({
          id,
          prompt: promptOf(params),
        }))
        return made(make('anthropic', lines, null))
      }
      if (path.endsWith('/batches')) {
        for (const batch of batches.values()) batch.looks += 1
        return send(200, { data: [...batches.values()].map(show), has_more: false })
      }
    }
    if (form === 'google') {
      if (path.endsWith(':batchGenerateContent')) {
        const { batch } = JSON.parse(text)
        const lines = batch.input_config.requests.requests.map(
          // oxlint-disable-next-line typescript/no-explicit-any -- the body of the test's own gateway
          ({ request: one, metadata }: any) => ({
            id: metadata.key,
            prompt: one.contents.at(-1).parts[0].text,
          }),
        )
        return made(make('google', lines, batch.display_name))
      }
      if (request.method === 'DELETE') return send(200, {})
      if (path.endsWith('/batches')) return send(200, { operations: [...batches.values()].map(show) })
    }
    const id = (form === 'anthropic' ? parts[3] : parts[2])?.replace(':cancel', '') ?? ''
    const batch = batches.get(id)
    if (batch === undefined || batch.isLost) return send(404, { error: { message: 'no such batch' } })
    if (path.endsWith('cancel')) batch.isCancelled = true
    batch.looks += 1
    send(200, show(batch))
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    invoice,
    asked,
    batches,
    /** Those of clients that were not deleted. */
    files,
    /** Makes the batches of submissions that were held. */
    letIn: () => held.splice(0).forEach((submit) => submit()),
    base,
    settings: {
      OPENAI_API_KEY: 'sk-one',
      OPENAI_BASE_URL: `${base}/openai/v1`,
      ANTHROPIC_API_KEY: 'sk-two',
      ANTHROPIC_BASE_URL: `${base}/anthropic/v1`,
      AZURE_OPENAI_API_KEY: 'sk-four',
      AZURE_OPENAI_BASE_URL: `${base}/azure/v1`,
      TOGETHER_API_KEY: 'sk-five',
      TOGETHER_BASE_URL: `${base}/together/v1`,
      GOOGLE_API_KEY: 'sk-three',
      GOOGLE_BASE_URL: `${base}/google/v1beta`,
      PARKWAY_BATCH_PROVIDERS: 'openai,azure,together,anthropic,google',
      PARKWAY_BATCH_POLL_MS: '50',
    },
    /** From now on, with an empty invoice. */
    behave(faults: VendorFaults): void {
      state.faults = faults
      invoice.batch.length = 0
      invoice.single.length = 0
      asked.length = 0
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type BatchVendor = Awaited<ReturnType<typeof startBatchVendor>>

const NOTHING: VendorBatch = {
  id: '',
  form: 'openai',
  lines: [],
  name: null,
  file: '',
  createdAtMs: 0,
  looks: 0,
  isLost: false,
  isCancelled: false,
  isBilled: true,
}

async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of the test's own gateway
function promptOf(body: any): string {
  const { content } = body.messages.at(-1)
  return typeof content === 'string' ? content : content[0].text
}

function toLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}
