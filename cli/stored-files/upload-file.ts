import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { sendUpload } from '../api/send-upload.ts'
import { openUpload } from '../files/open-upload.ts'
import { createTransferBar } from '../output/bars/transfer-bar.ts'
import { openKeptUpload } from './kept-upload.ts'
import { PART_BYTES, uploadInParts } from './upload-in-parts.ts'

export interface FileUpload {
  readonly path: string
  readonly name: string | null
  readonly purpose: Schemas['UploadRequest']['purpose']
  /** Null: it is kept until somebody deletes it. */
  readonly expiresSeconds: number | null
}

/** Uploads a file at once, or a large one in parts. */
export async function uploadFile(
  gateway: GatewayClient,
  { path, name: given, purpose, expiresSeconds }: FileUpload,
): Promise<Schemas['File']> {
  const file = await openUpload(path)
  const name = given ?? basename(path)
  if (file.size <= 2 * PART_BYTES) {
    const body = new FormData()
    body.set('purpose', purpose)
    if (expiresSeconds !== null) {
      body.set('expires_after[anchor]', 'created_at')
      body.set('expires_after[seconds]', String(expiresSeconds))
    }
    body.set('file', file, name)
    const response = await sendUpload(gateway, '/v1/files', { method: 'POST', body }, name)
    return (await response.json()) as Schemas['File']
  }
  const { baseUrl, apiKey } = gateway.connection
  const marks = {
    baseUrl,
    apiKey,
    path: resolve(path),
    bytes: file.size,
    changedAtMs: statSync(path).mtimeMs,
  }
  const kept = openKeptUpload({ ...marks, purpose, expiresSeconds }, process.env)
  const bar = createTransferBar(process.stderr, { name, bytesTotal: file.size })
  try {
    return await uploadInParts(gateway, { file, name, purpose, expiresSeconds, kept, bar })
  } finally {
    bar.clear()
  }
}
