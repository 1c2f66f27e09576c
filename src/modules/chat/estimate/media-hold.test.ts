import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../kernel/app-error.ts'
import { anthropicVendor } from '../../../providers/ai-sdk/vendors/anthropic-vendor.ts'
import { googleVendor } from '../../../providers/ai-sdk/vendors/google-vendor.ts'
import { translateMediaPart } from '../../../providers/ai-sdk/request/translate-media-part.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import { isMediaPart, type MediaPart } from '../../../wires/openai-chat/read-media-part.ts'
import { createCatalog, type CatalogModel } from '../../catalog/catalog.ts'
import { estimateChat, refineChat } from './estimate-cost.ts'
import { billedContents, fileOf, type BilledContent } from '../testing/billed-files.ts'

const catalog = createCatalog({ now: () => 0 })
const modelOf = (id: string): CatalogModel => {
  const model = catalog.resolve(id)
  if (!model) throw new Error(`no model '${id}'`)
  return model
}

/** What each vendor documents, in tokens. The highest rate is used where it differs between models. */
interface Rules {
  readonly image: (width: number, height: number) => number
  readonly page: number
  readonly pagesMax: number
  readonly audioPerSecond: number
  readonly videoPerSecond: number
}

const RULES: Readonly<Record<string, Rules>> = {
  'gpt-5.4': {
    image: (width, height) => Math.min(Math.ceil(width / 32) * Math.ceil(height / 32), 1536) * 1.62,
    page: 3000 + 1536 * 1.62,
    pagesMax: 1000,
    audioPerSecond: 10,
    videoPerSecond: 0,
  },
  'claude-opus-5': {
    image: (width, height) => Math.min((width * height) / 750, 4784),
    page: 3000 + 4784,
    pagesMax: 600,
    audioPerSecond: 0,
    videoPerSecond: 0,
  },
  'gemini-3.6-flash': {
    image: (width, height) => Math.min(Math.ceil(width / 768) * Math.ceil(height / 768) * 258, 2240),
    page: 1120,
    pagesMax: 1000,
    audioPerSecond: 32,
    videoPerSecond: 290,
  },
}

const TYPES = [
  '',
  'image/png',
  'image/gif',
  'text/plain',
  'application/pdf',
  'application/new',
  'audio/mp3',
  'video/mp4',
]

const sentFiles = fc.record({
  content: billedContents,
  type: fc.constantFrom(...TYPES),
  place: fc.constantFrom('image_url', 'video_url', 'input_audio', 'file', 'bare file'),
  name: fc.constantFrom(undefined, 'a.pdf', 'a.txt', 'a.png', 'a.mp3'),
  isAddress: fc.boolean(),
})
type SentFile = typeof sentFiles extends fc.Arbitrary<infer Sent> ? Sent : never

function partOf({ content, type, place, name, isAddress }: SentFile): MediaPart {
  const data = fileOf(content).toString('base64')
  const url = isAddress ? `https://example.com/${name ?? 'a'}` : `data:${type};base64,${data}`
  const named = name === undefined ? {} : { filename: name }
  switch (place) {
    case 'image_url':
      return { type: place, image_url: { url } }
    case 'video_url':
      return { type: place, video_url: { url } }
    case 'input_audio':
      return { type: place, input_audio: { data, format: 'mp3' } }
    case 'bare file':
      return { type: 'file', file: { file_data: data, ...named } }
    case 'file':
      return { type: 'file', file: { file_data: url, ...named } }
  }
}

interface Telling {
  /** The type that the vendor is told. Null if the part is forwarded as it is. */
  readonly toldType: string | null
  readonly rules: Rules
}

/** The bill of a vendor that reads a part as what it is told, and a file by its bytes. It refuses pictures that are none. */
function billOf(part: MediaPart, content: BilledContent, { toldType, rules }: Telling): number {
  const isToldImage = toldType === null ? part.type === 'image_url' : toldType.startsWith('image/')
  if (isToldImage && content.kind !== 'image') return 0
  switch (content.kind) {
    case 'image':
      return rules.image(content.width, content.height)
    case 'document':
      return Math.min(content.pages, rules.pagesMax) * rules.page
    case 'recording':
    case 'silence':
      return content.seconds * rules.audioPerSecond
    case 'video':
      return content.seconds * rules.videoPerSecond
    case 'text':
      return content.tokens
  }
}

function toldTypeOf(model: CatalogModel, part: MediaPart): string | null {
  if (model.vendor === 'Anthropic') return translateMediaPart(part, anthropicVendor).mediaType
  if (model.vendor === 'Google') return translateMediaPart(part, googleVendor).mediaType
  return null
}

/** Returns null if the gateway refuses the request. */
function promptTokensOf(model: CatalogModel, body: ChatRequest): number | null {
  try {
    const bytes = Buffer.byteLength(JSON.stringify(body))
    const bound = estimateChat(model, body, bytes).promptTokensMax
    return Math.min(bound, refineChat(model, body, bytes).promptTokensMax)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_value') return null
    throw error
  }
}

describe('a prompt with any mixture of parts', () => {
  test.each(Object.entries(RULES))('for %s is never billed above its hold', (id, rules) => {
    const model = modelOf(id)
    let held = 0
    fc.assert(
      fc.property(fc.array(sentFiles, { minLength: 1, maxLength: 4 }), (sent) => {
        const parts = sent.map((one) => ({ part: partOf(one), content: one.content }))
        const content = [{ type: 'text' as const, text: 'Read.' }, ...parts.map(({ part }) => part)]
        const tokens = promptTokensOf(model, { model: id, messages: [{ role: 'user', content }] })
        if (tokens === null) return
        held += 1
        const bill = parts.reduce(
          (sum, { part, content: file }) =>
            sum + billOf(part, file, { toldType: toldTypeOf(model, part), rules }),
          0,
        )
        // A prompt above the context is refused.
        expect(tokens).toBeGreaterThanOrEqual(Math.min(Math.floor(bill), model.contextTokens ?? 0))
      }),
      { numRuns: 400 },
    )
    // Enough of them were not refused.
    expect(held).toBeGreaterThan(30)
  })

  test('has a picture at an address that is held as one picture', () => {
    for (const id of Object.keys(RULES)) {
      const picture = { type: 'image_url' as const, image_url: { url: 'https://example.com/photo' } }
      expect(isMediaPart(picture)).toBe(true)
      const body: ChatRequest = { model: id, messages: [{ role: 'user', content: [picture] }] }
      expect(promptTokensOf(modelOf(id), body)).toBeLessThan(20_000)
    }
  })
})
