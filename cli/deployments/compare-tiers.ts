import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { memoryBar } from '../output/bars/memory-bar.ts'
import type { Column } from '../output/tables/print-table.ts'
import { formatNumber } from '../output/format-number.ts'

/** A tier with what the model would be on it. */
export interface TierFit {
  readonly tier: Schemas['GpuTier']
  readonly preview: Schemas['DeploymentPreview']
}

/** Asks how the model fits on every tier. Tiers that fit come first, cheapest first. */
export async function compareTiers(
  gateway: GatewayClient,
  order: { huggingface_id: string; quantization?: string | undefined; max_model_len?: number | undefined },
): Promise<TierFit[]> {
  const { data } = await gateway.call((routes) => routes.GET('/v1/gpu-tiers'))
  const fits = await Promise.all(
    data.map(async (tier) => {
      const query = { ...order, gpu_tier: tier.id }
      const preview = await gateway.call((routes) =>
        routes.GET('/v1/deployments/preview', { params: { query } }),
      )
      return { tier, preview }
    }),
  )
  return fits.toSorted(
    (one, other) =>
      Number(other.preview.compatible) - Number(one.preview.compatible) ||
      one.tier.price_per_hour_usd - other.tier.price_per_hour_usd,
  )
}

export const TIER_COLUMNS: readonly Column<TierFit>[] = [
  { title: 'tier', of: ({ tier }) => tier.id },
  { title: 'memory', of: ({ preview }) => drawMemory(preview), rank: 7 },
  {
    title: 'needed GB',
    of: ({ preview }) =>
      preview.required_vram_gb === null ? '?' : formatNumber(preview.required_vram_gb, 1),
    isNumber: true,
    rank: 5,
  },
  { title: 'of', of: ({ preview }) => formatNumber(preview.available_vram_gb, 1), isNumber: true, rank: 6 },
  {
    title: 'fit',
    of: ({ preview }) => ({ fits: 'fits', tight: 'tight', no: 'too small' })[preview.fit],
    rank: 2,
  },
  { title: '$ an hour', of: ({ tier }) => formatNumber(tier.price_per_hour_usd, 2), isNumber: true, rank: 3 },
  { title: 'free', of: ({ tier }) => tier.capacity, rank: 4 },
]

export function drawMemory(preview: Schemas['DeploymentPreview']): string {
  return memoryBar({
    weightsGb: preview.weights_gb ?? 0,
    cacheGb: preview.cache_gb ?? 0,
    overheadGb: preview.overhead_gb ?? 0,
    availableGb: preview.available_vram_gb,
  })
}
