import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { ApiFailure } from '../api/api-failure.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import type { TransferBar } from '../output/bars/transfer-bar.ts'
import type { KeptUpload, SentParts } from './kept-upload.ts'

export interface PartedUpload {
  readonly file: Blob
  readonly name: string
  readonly purpose: Schemas['UploadRequest']['purpose']
  readonly expiresSeconds: number | null
  readonly kept: KeptUpload
  readonly bar: TransferBar
}

export const PART_BYTES = 16 * 1024 * 1024
const TRIES_MAX = 6
const FIRST_PAUSE_MS = 500
/** An upload that ends so soon is begun anew. */
const LEFT_MS_MIN = 60_000

/**
 * Sends a file part after part, and tries again after a lost connection. Goes on behind what an earlier call has sent. Nothing becomes a
 * file unless the gateway has the same bytes.
 */
export async function uploadInParts(gateway: GatewayClient, upload: PartedUpload): Promise<Schemas['File']> {
  const { file, kept, bar } = upload
  const known = kept.read()
  let sent =
    known !== null && known.expiresAtMs - Date.now() > LEFT_MS_MIN ? known : await begin(gateway, upload)
  const count = Math.ceil(file.size / PART_BYTES)
  while (sent.partIds.length < count) {
    const start = sent.partIds.length * PART_BYTES
    const part = file.slice(start, start + PART_BYTES)
    const { uploadId, partIds } = sent
    const id = await tryAgain(upload, () => {
      bar.start(start, file.size)
      return sendPart(gateway, { uploadId, part, bar })
    })
    sent = { ...sent, partIds: [...partIds, id] }
    kept.keep(sent)
  }
  const { uploadId, partIds } = sent
  const md5 = await hashOf(file)
  const done = await tryAgain(upload, () =>
    gateway.call((routes) =>
      routes.POST('/v1/uploads/{id}/complete', {
        params: { path: { id: uploadId } },
        body: { part_ids: [...partIds], md5 },
      }),
    ),
  )
  kept.keep(null)
  if (done.file === null)
    throw new CommandFailure(EXIT.failed, 'The file was deleted as soon as it was complete.')
  return done.file
}

async function begin(
  gateway: GatewayClient,
  { file, name, purpose, expiresSeconds, kept }: PartedUpload,
): Promise<SentParts> {
  const upload = await gateway.call((routes) =>
    routes.POST('/v1/uploads', {
      body: {
        purpose,
        filename: name,
        bytes: file.size,
        mime_type: 'application/octet-stream',
        ...(expiresSeconds !== null && {
          expires_after: { anchor: 'created_at' as const, seconds: expiresSeconds },
        }),
      },
    }),
  )
  const sent = { uploadId: upload.id, expiresAtMs: upload.expires_at * 1_000, partIds: [] }
  kept.keep(sent)
  return sent
}

async function sendPart(
  gateway: GatewayClient,
  { uploadId, part, bar }: { readonly uploadId: string; readonly part: Blob; readonly bar: TransferBar },
): Promise<string> {
  const body = new FormData()
  body.set('data', part, 'part')
  const response = await gateway.send(`/v1/uploads/${uploadId}/parts`, {
    method: 'POST',
    body,
    watchUpload: () => ({ add: (bytes) => bar.add(bytes), clear: () => {} }),
  })
  const { id } = (await response.json()) as { id: string }
  return id
}

/** Only a connection that was lost, or a gateway that is away, is worth another try. */
async function tryAgain<Result>({ kept }: PartedUpload, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      // The upload has ended, or the parts are not the file: the next call begins anew.
      if (error instanceof ApiFailure && error.status < 500 && error.status !== 429) kept.keep(null)
      if (!isAway(error)) throw error
      if (attempt >= TRIES_MAX)
        throw new CommandFailure(
          error.exitCode,
          error.message,
          'Call the same command again: it goes on where it was cut.',
        )
      await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1))
    }
  }
}

function isAway(error: unknown): error is CommandFailure {
  if (error instanceof ApiFailure) return error.status === 502 || error.status === 503 || error.status === 504
  return error instanceof CommandFailure && error.exitCode === EXIT.gatewayAway
}

async function hashOf(file: Blob): Promise<string> {
  const hash = createHash('md5')
  for await (const bytes of file.stream()) hash.update(bytes)
  return hash.digest('hex')
}
