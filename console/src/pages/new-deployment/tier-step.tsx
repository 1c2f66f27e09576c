import type { GpuTier } from '../../api/deployment-plans.ts'
import type { Schemas } from '../../api/client.ts'
import { MemoryBar } from '../../ui/data/memory-bar.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { formatCount } from '../../ui/format/format-count.ts'

type Preview = Schemas['DeploymentPreview']

interface TierStepProps {
  readonly tiers: readonly GpuTier[] | undefined
  readonly error: unknown
  readonly tierId: string
  readonly recommended: string | null
  readonly preview: Preview | undefined
  readonly previewError: unknown
  readonly onChoose: (tierId: string) => void
}

const FITS = {
  fits: { tone: 'good', label: 'fits' },
  tight: { tone: 'warn', label: 'tight' },
  no: { tone: 'bad', label: 'does not fit' },
} as const

/** Which GPU, and how the model fills its memory. */
export function TierStep(props: TierStepProps) {
  const { tiers, error, tierId, recommended, preview, previewError, onChoose } = props
  return (
    <Section title="3. GPU">
      <div className="flex flex-col gap-4">
        {tiers === undefined && !error && <SkeletonRows count={3} />}
        {error !== null && error !== undefined && (
          <ErrorPanel title="GPU tiers could not be loaded" error={error} />
        )}
        {tiers?.length === 0 && (
          <p className="text-sm text-ink-soft">This gateway offers no GPU to your key.</p>
        )}
        <fieldset className="grid grid-cols-[repeat(auto-fill,minmax(220px,1fr))] gap-2">
          <legend className="sr-only">GPU tier</legend>
          {tiers?.map((tier) => (
            <TierChoice
              key={tier.id}
              tier={tier}
              isChosen={tier.id === tierId}
              isRecommended={tier.id === recommended}
              onChoose={() => onChoose(tier.id)}
            />
          ))}
        </fieldset>
        {preview && preview.gpu_tier === tierId && <Fit preview={preview} />}
        {preview && tierId === '' && (
          <>
            <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm">
              The model fits on none of these GPUs. Shorten its context or choose a quantization below. The
              closest is {tiers?.find(({ id }) => id === preview.gpu_tier)?.gpu_name ?? preview.gpu_tier}:
            </p>
            <Fit preview={preview} />
          </>
        )}
        {previewError !== null && previewError !== undefined && (
          <ErrorPanel title="The memory could not be estimated" error={previewError} />
        )}
      </div>
    </Section>
  )
}

interface TierChoiceProps {
  readonly tier: GpuTier
  readonly isChosen: boolean
  readonly isRecommended: boolean
  readonly onChoose: () => void
}

function TierChoice({ tier, isChosen, isRecommended, onChoose }: TierChoiceProps) {
  return (
    <label className="flex cursor-pointer flex-col gap-1 rounded-md border border-line p-3 hover:border-line-strong has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent">
      <input type="radio" name="tier" checked={isChosen} onChange={onChoose} className="sr-only" />
      <span className="flex items-center justify-between gap-2 text-sm font-medium">
        <span className="truncate">
          {tier.gpu_count > 1 && `${tier.gpu_count} × `}
          {tier.gpu_name}
        </span>
        {isRecommended && <Badge tone="accent">cheapest fit</Badge>}
      </span>
      <span className="tabular flex justify-between gap-2 text-xs text-ink-soft">
        <span>{tier.vram_gb} GB</span>
        <span>{formatUsd(tier.price_per_hour_usd)} per hour</span>
      </span>
      <span className="text-xs text-ink-soft">
        {tier.available ? `${tier.capacity} free` : 'none free now, it would wait'}
      </span>
    </label>
  )
}

function Fit({ preview }: { readonly preview: Preview }) {
  const { weights_gb: weights, cache_gb: cache, overhead_gb: overhead } = preview
  const { tone, label } = FITS[preview.fit]
  return (
    <div className="flex flex-col gap-3 rounded-md bg-sunken p-3">
      <p className="flex items-center gap-2 text-sm">
        Memory <Badge tone={tone}>{label}</Badge>
      </p>
      {weights !== null && cache !== null && overhead !== null && (
        <MemoryBar
          parts={[
            { label: 'Weights', gb: weights },
            { label: 'Cache', gb: cache },
            { label: 'Overhead', gb: overhead },
          ]}
          availableGb={preview.available_vram_gb}
        />
      )}
      {preview.notes !== '' && <p className="text-xs break-words text-ink-soft">{preview.notes}</p>}
      {preview.fit === 'no' && preview.max_fitting_model_len > 0 && (
        <p className="text-xs text-ink-soft">
          It fits with a context of up to {formatCount(preview.max_fitting_model_len)} tokens.
        </p>
      )}
    </div>
  )
}
