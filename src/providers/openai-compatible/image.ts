import { Buffer } from 'node:buffer'
import { FormData } from 'undici'
import { isRecord } from '../../kernel/is-record.ts'
import type {
  InputFile,
  MediaCall,
  MediaOperation,
  MediaOutput,
  OutputFile,
} from '../media/media-operation.ts'
import type { ImageWork } from '../media/media-work.ts'
import { readJsonBody } from './read-answer.ts'
import type { OpenAiCompatibleUpstream } from './upstream.ts'
import type { WireClient } from './wire-client.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'
import { invalidAnswer } from '../failures/upstream-error.ts'

type ImageCall = MediaCall<ImageWork<InputFile>>

/** Serves OpenAI's `/images/generations` and `/images/edits`, which answer when the images are complete. */
export function createImage(
  upstream: OpenAiCompatibleUpstream,
  client: WireClient,
): MediaOperation<ImageWork<InputFile>> {
  return {
    async start(call) {
      const members = collectMembers(upstream, call)
      const response =
        call.work.images.length === 0
          ? await client.post('/images/generations', JSON.stringify(members), call)
          : await client.post('/images/edits', writeForm(members, call.work), call)
      return {
        kind: 'done',
        output: readOutput(client.provider, await readJsonBody(client.provider, response)),
      }
    },
  }
}

type Members = Readonly<Record<string, unknown>>

function collectMembers(upstream: OpenAiCompatibleUpstream, call: ImageCall): Members {
  const { upstreamModel } = call
  const work = answersBytesOnly(upstreamModel) ? inTermsOfGptImage(call.work) : call.work
  const size = work.size ?? chooseSize(upstreamModel, work.aspectRatio)
  const named = {
    model: upstreamModel,
    prompt: work.prompt,
    n: work.count,
    size,
    quality: work.quality,
    style: work.style,
    background: work.background,
    output_format: work.outputFormat,
    seed: upstream.lacksImageSeed ? null : work.seed,
    // A URL may point to a host that the gateway must not contact. Models that return only bytes refuse the member.
    response_format: answersBytesOnly(upstreamModel) ? null : 'b64_json',
  }
  return { ...work.extra, ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null)) }
}

function answersBytesOnly(model: string): boolean {
  return /^(chat)?gpt-image/.test(model)
}

const GPT_IMAGE_SIZES = lookupTable<string>({
  '1792x1024': '1536x1024',
  '1024x1792': '1024x1536',
})

/** Translates a request for DALL-E, which these models replace, into their nearest own options. */
function inTermsOfGptImage(work: ImageWork<InputFile>): ImageWork<InputFile> {
  const isOfDallE = work.quality === 'standard' || work.quality === 'hd'
  if (!isOfDallE) return work
  const size = work.size === null ? null : (GPT_IMAGE_SIZES[work.size] ?? work.size)
  return { ...work, size, quality: 'medium', style: null }
}

/** The wire has sizes only, so a ratio becomes the model's largest common size of that orientation. */
function chooseSize(model: string, aspectRatio: string | null): string | null {
  const [width = 0, height = 0] = (aspectRatio ?? '').split(':').map(Number)
  if (!(width > 0 && height > 0)) return null
  if (width === height) return '1024x1024'
  const longSide = model.startsWith('dall-e-3') ? 1792 : 1536
  return width > height ? `${longSide}x1024` : `1024x${longSide}`
}

function writeForm(members: Members, { images, mask }: ImageWork<InputFile>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(members))
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  // A single image uses the older member name, which every server of this wire knows.
  const member = images.length === 1 ? 'image' : 'image[]'
  for (const [index, image] of images.entries()) appendFile(form, member, `image-${index}`, image)
  if (mask !== null) appendFile(form, 'mask', 'mask', mask)
  return form
}

function appendFile(form: FormData, member: string, name: string, { bytes, contentType }: InputFile): void {
  const extension = contentType.split('/')[1]?.replace(/[^a-z0-9]/g, '') ?? 'png'
  form.append(member, new Blob([Uint8Array.from(bytes)], { type: contentType }), `${name}.${extension}`)
}

function readOutput(provider: string, answer: unknown): MediaOutput {
  const data = isRecord(answer) ? answer['data'] : undefined
  if (!Array.isArray(data) || data.length === 0) throw invalidAnswer(provider, 'its answer has no images')
  return { files: data.map((entry: unknown) => readFile(provider, entry)) }
}

function readFile(provider: string, entry: unknown): OutputFile {
  const { b64_json: base64, url, revised_prompt: revisedPrompt } = isRecord(entry) ? entry : {}
  const revision = typeof revisedPrompt === 'string' ? { revisedPrompt } : {}
  if (typeof base64 === 'string' && base64 !== '') {
    const bytes = Buffer.from(base64, 'base64')
    const contentType = sniffImageType(bytes)
    if (contentType === null) throw invalidAnswer(provider, 'an image of its answer is none')
    return { kind: 'bytes', bytes, contentType, ...revision }
  }
  if (typeof url === 'string' && URL.canParse(url)) return { kind: 'url', url, ...revision }
  throw invalidAnswer(provider, 'an image of its answer is neither bytes nor an address')
}

function sniffImageType(bytes: Buffer): string | null {
  if (bytes.subarray(1, 4).toString('latin1') === 'PNG') return 'image/png'
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return 'image/jpeg'
  if (bytes.subarray(8, 12).toString('latin1') === 'WEBP') return 'image/webp'
  return null
}
