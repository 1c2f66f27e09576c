import { writeFile } from '../files/write-file.ts'
import { readFile } from '../files/read-file.ts'
import { Refused, type VendorCall } from './vendor-server.ts'

/** Pictures of a prompt at the default fidelity: a base and so much for each tile, the shorter side scaled to 512. */
const PICTURE_BASE_TOKENS = 65
const PICTURE_TILE_TOKENS = 129
const TILE_PIXELS = 512
/** Newer models count patches, up to a limit. */
const PATCH_PIXELS = 32
const PATCHES_MAX = 1_536
const INPUT_USD_PER_1M = 8
const PICTURES_MAX = 16

/** `POST /v1/images/edits` of OpenAI: the pictures that are made, and each picture that is given, are billed. */
export async function answerEdit(call: VendorCall): Promise<void> {
  const { planned, response, vendor } = call
  const form = await new Response(Uint8Array.from(call.bytes), {
    headers: { 'content-type': call.contentType },
  }).formData()
  const given = [...form.getAll('image'), ...form.getAll('image[]')].filter((one) => typeof one !== 'string')
  if (planned.plan.failure === 'refused') throw new Refused('the vendor takes no such request')
  if (given.length > PICTURES_MAX) throw new Refused('Too many images.')
  const textOf = (name: string) => {
    const value = form.get(name)
    return typeof value === 'string' ? value : null
  }
  const model = textOf('model') ?? ''
  let tokens = 0
  for (const file of given) tokens += countPicture(model, Buffer.from(await file.arrayBuffer()))
  if (planned.plan.pauseAfter !== null) await planned.pause(call.closed)
  const count = Number(textOf('n') ?? '1')
  const counts = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 }
  vendor.lines.push({
    caseNumber: planned.number,
    vendor: vendor.name,
    model,
    counts,
    seen: counts,
    pictures: {
      count,
      size: textOf('size') ?? 'auto',
      quality: textOf('quality') ?? 'medium',
      given: given.length,
    },
    // Several pictures are billed like as many calls, each with the pictures that are given.
    extras: [{ what: `${given.length} given pictures`, usd: (count * tokens * INPUT_USD_PER_1M) / 1e6 }],
    factor: 1,
    isWhole: !response.destroyed,
  })
  const picture = writeFile({ is: 'picture', width: 64, height: 64 }).toString('base64')
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      created: 1_750_000_000,
      data: Array.from({ length: count }, () => ({ b64_json: picture })),
    }),
  )
}

function countPicture(model: string, bytes: Buffer): number {
  const facts = readFile(bytes)
  if (facts.is !== 'picture') throw new Refused('Invalid image file.')
  if (model.startsWith('gpt-image-2')) {
    const patches = Math.ceil(facts.width / PATCH_PIXELS) * Math.ceil(facts.height / PATCH_PIXELS)
    return Math.min(patches, PATCHES_MAX)
  }
  const scale = Math.min(1, TILE_PIXELS / Math.min(facts.width, facts.height))
  const tiles = [facts.width, facts.height].map((side) => Math.ceil((side * scale) / TILE_PIXELS))
  return PICTURE_BASE_TOKENS + tiles.reduce((product, count) => product * count, 1) * PICTURE_TILE_TOKENS
}
