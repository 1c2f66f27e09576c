import { isCancel, select, text } from '@clack/prompts'
import type { GatewayClient } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { printable } from '../output/printable.ts'
import { drawMemory, type TierFit } from './compare-tiers.ts'

const OTHER = ''
/** More templates would scroll off the screen. */
const TEMPLATES_MAX = 12

/** Lets the person choose a template, or type the id of a model. */
export async function askModel(gateway: GatewayClient): Promise<string> {
  const { data } = await gateway.call((routes) => routes.GET('/v1/deployment-templates'))
  const chosen = await select({
    message: 'Which model?',
    output: process.stderr,
    options: [
      { value: OTHER, label: 'Another model of the hub …' },
      ...data.slice(0, TEMPLATES_MAX).map((template) => ({
        value: template.huggingface_id,
        label: printable(template.huggingface_id),
        hint: printable(template.description),
      })),
    ],
  })
  if (isCancel(chosen)) throw cancelled()
  if (chosen !== OTHER) return chosen
  const typed = await text({
    message: 'Its id on the hub, or the address of its page',
    placeholder: 'Qwen/Qwen3-8B',
    output: process.stderr,
    validate: (value) =>
      /^(?:https?:\/\/\S+|[\w.-]+\/[\w.-]+\S*)$/.test((value ?? '').trim())
        ? undefined
        : 'Such as Qwen/Qwen3-8B, or the address of its page',
  })
  if (isCancel(typed)) throw cancelled()
  return typed
}

/** Lets the person choose among the tiers that the model fits on. */
export async function askTier(fits: readonly TierFit[]): Promise<string> {
  const roomy = fits.find(({ preview }) => preview.fit === 'fits')
  const chosen = await select({
    message: 'On which GPU? (weights █, cache ▓, overhead ▒)',
    ...(roomy !== undefined && { initialValue: roomy.tier.id }),
    output: process.stderr,
    options: fits
      .filter(({ preview }) => preview.compatible)
      .map(({ tier, preview }) => ({
        value: tier.id,
        label: `${printable(tier.id).padEnd(14)} ${drawMemory(preview)} $${tier.price_per_hour_usd.toFixed(2)}/h`,
        hint: `${preview.required_vram_gb?.toFixed(1) ?? '?'} of ${preview.available_vram_gb.toFixed(1)} GB, ${preview.fit}`,
      })),
  })
  if (isCancel(chosen)) throw cancelled()
  return chosen
}

function cancelled(): CommandFailure {
  return new CommandFailure(EXIT.interrupted, 'Nothing was deployed.')
}
