import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { systemClock } from '../../src/kernel/clock.ts'
import { createCatalog, type CatalogModel } from '../../src/modules/catalog/catalog.ts'
import type { MediaOperation, MediaOutput } from '../../src/providers/media/media-operation.ts'
import { createProviderRegistry, type ProviderRegistry } from '../../src/providers/registry.ts'
import { imageWork, inputImage, jobCall, mediaCall, videoWork } from '../upstreams/media/media-call.ts'
import { startVendorServer, type VendorServer } from '../upstreams/media/vendor-server.ts'
import { VENDOR_KEY, VENDOR_WIRES } from '../upstreams/media/vendor-wires.ts'
import { BEFORE_ENDS_MS } from '../support/lasting-catalog.ts'

const MEMBERS = {
  image: 'image',
  video: 'video',
  upscale: 'upscale',
  bg_remove: 'backgroundRemoval',
} as const
type MediaCategory = keyof typeof MEMBERS

const catalog = createCatalog({ now: () => BEFORE_ENDS_MS })
const models = [
  ...catalog.list({}),
  ...catalog.list({ category: 'upscale' }),
  ...catalog.list({ category: 'bg_remove' }),
]
const routes = models.flatMap((model) =>
  isMedia(model.category)
    ? model.routes.map((route) => ({
        id: model.id,
        model,
        provider: route.provider,
        upstreamModel: route.model,
      }))
    : [],
)

const servers: VendorServer[] = []
let registry: ProviderRegistry

beforeAll(async () => {
  const settings = new Map<string, { apiKeys: string[]; baseUrl: string }>()
  for (const [id, { wire, basePath }] of Object.entries(VENDOR_WIRES)) {
    const server = await startVendorServer(wire)
    servers.push(server)
    settings.set(id, { apiKeys: [VENDOR_KEY], baseUrl: server.origin + basePath })
  }
  const sandbox = { id: 'sandbox', isConfigured: true }
  registry = createProviderRegistry({ settings, sandbox, clock: systemClock, connectTimeoutMs: 5_000 })
})

afterAll(async () => {
  await registry.close()
  for (const server of servers) await server.close()
})

describe('every image and video model in the catalog', () => {
  test('is covered', () => {
    expect(routes.length).toBeGreaterThan(20)
  })

  test.each(routes)('$id is made by $provider', async ({ model, provider, upstreamModel }) => {
    const operation = operationOf(model, provider)
    for (const work of worksFor(model)) {
      const { files } = await perform(operation, work, upstreamModel)
      expect(files.length).toBeGreaterThan(0)
    }
  })
})

async function perform(
  operation: MediaOperation<never>,
  work: unknown,
  upstreamModel: string,
): Promise<MediaOutput> {
  const start = await operation.start(mediaCall(work as never, upstreamModel))
  if (start.kind === 'done') return start.output
  const look = await operation.check?.(jobCall(start.job, upstreamModel))
  if (look?.kind !== 'done') throw new Error('expected the job to be done')
  return look.output
}

function operationOf({ category }: CatalogModel, provider: string): MediaOperation<never> {
  if (!isMedia(category)) throw new Error('not a model of images or videos')
  const operation = registry.get(provider)?.[MEMBERS[category]]
  if (operation === undefined) throw new Error(`${provider} has no ${category}`)
  return operation
}

/** Returns one work for each capability of the model. */
function worksFor({ category, capabilities }: CatalogModel): unknown[] {
  const can: ReadonlySet<string> = capabilities
  if (category === 'upscale') return [{ kind: 'upscale', image: inputImage, scale: 2, prompt: null }]
  if (category === 'bg_remove') return [{ kind: 'bg_remove', image: inputImage, outputFormat: 'png' }]
  if (category === 'image') {
    return [
      imageWork({ size: '1024x1024' }),
      ...(can.has('image_edit') ? [imageWork({ images: [inputImage] })] : []),
    ]
  }
  return [
    ...(can.has('text_to_video') ? [videoWork()] : []),
    ...(can.has('image_to_video') ? [videoWork({ image: inputImage })] : []),
  ]
}

function isMedia(category: string): category is MediaCategory {
  return category in MEMBERS
}
