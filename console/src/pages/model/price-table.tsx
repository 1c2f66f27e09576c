import type { Model } from '../../api/model-kinds.ts'
import { FixedTable } from '../../ui/data/fixed-table.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatPrice } from '../../ui/format/format-price.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'

type Price = Model['price']

const RATES = [
  ['Input', 'input_usd_per_1m'],
  ['Input from a cache', 'cached_input_usd_per_1m'],
  ['Written to a cache', 'cache_write_usd_per_1m'],
  ['Written to a cache for an hour', 'cache_write_1h_usd_per_1m'],
  ['Output', 'output_usd_per_1m'],
  ['Audio input', 'audio_input_usd_per_1m'],
  ['Audio output', 'audio_output_usd_per_1m'],
] as const

export function PriceTable({ price }: { readonly price: Price }) {
  return (
    <Section title="Price">
      {price.unit === 'token' ? (
        <TokenRates price={price} />
      ) : (
        <p className="text-sm">{formatPrice({ price })}</p>
      )}
      {price.input_image_usd !== undefined && (
        <p className="mt-2 text-sm text-ink-soft">
          Input images: {formatUsd(price.input_image_usd)} each, for each output
        </p>
      )}
      {price.batch_factor !== undefined && (
        <p className="mt-2 text-sm text-ink-soft">
          Lines of batches that are handed to a vendor: ×{price.batch_factor}
        </p>
      )}
      {price.batch_single_factor !== undefined && (
        <p className="mt-2 text-sm text-ink-soft">
          Lines of batches that are asked one by one: ×{price.batch_single_factor}
        </p>
      )}
      {Object.entries(price.multipliers ?? {}).map(([trait, factors]) => (
        <p key={trait} className="mt-2 text-sm text-ink-soft">
          By {trait}:{' '}
          {Object.entries(factors)
            .map(([value, factor]) => `${value} ×${factor}`)
            .join(', ')}
        </p>
      ))}
    </Section>
  )
}

function TokenRates({ price }: { readonly price: Price }) {
  const tiers = price.long_context ?? []
  return (
    <FixedTable
      label="Price"
      reason="The parts of one price, in the order in which a request uses them."
      caption="US dollars per 1M tokens"
      className="w-full"
    >
      {tiers.length > 0 && (
        <thead>
          <tr className="text-xs text-ink-soft">
            <th scope="col" className="pb-1 text-left font-medium">
              Tokens
            </th>
            <th scope="col" className="pb-1 pl-4 text-right font-medium">
              Prompt up to {formatCount(tiers[0]?.above_tokens ?? 0)}
            </th>
            {tiers.map((tier) => (
              <th key={tier.above_tokens} scope="col" className="pb-1 pl-4 text-right font-medium">
                above {formatCount(tier.above_tokens)}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {RATES.filter(([, name]) => price[name] !== undefined).map(([label, name]) => (
          <tr key={name} className="border-t border-line">
            <th scope="row" className="py-1.5 text-left font-normal text-ink-soft">
              {label}
            </th>
            <td className="tabular py-1.5 text-right">{formatUsd(price[name] ?? 0)}</td>
            {tiers.map((tier) => (
              <td key={tier.above_tokens} className="tabular py-1.5 text-right">
                {formatTier(tier, name)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </FixedTable>
  )
}

function formatTier(tier: Readonly<Record<string, unknown>>, name: string): string {
  const rate = tier[name]
  return typeof rate === 'number' ? formatUsd(rate) : ''
}
