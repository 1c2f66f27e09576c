import type { GatewayClient, Schemas } from '../../api/gateway-client.ts'
import { clientCommand, type CommandContext } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { compareTiers, TIER_COLUMNS, type TierFit } from '../../deployments/compare-tiers.ts'
import { followStart } from '../../deployments/follow-deployment.ts'
import { describeEvent } from '../../deployments/print-events.ts'
import { readHubId } from '../../deployments/read-hub-id.ts'
import { EXIT } from '../../exit-codes.ts'
import { isInteractive, requireConsent } from '../../input/confirm.ts'
import { parseUsd, parseWhole } from '../../input/parse-number.ts'
import { interruptible } from '../../interruption.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { printable } from '../../output/printable.ts'

interface CreateOptions {
  readonly tier?: string
  readonly name?: string
  readonly quantization?: string
  readonly context?: string
  readonly budget?: string
  readonly idle?: string
  readonly maxPrice?: string
  readonly revision?: string
  readonly useHfToken?: boolean
  readonly env?: string[]
  readonly yes?: boolean
  /** False with `--no-follow`. */
  readonly follow: boolean
}

const AUTOMATIC = 'auto'
const collect = (value: string, before: string[] = []): string[] => [...before, value]

export const create = clientCommand<CreateOptions>({
  name: 'create',
  summary: 'Deploy a model of the hub on a GPU, and wait until it answers. Asks for what is missing.',
  example: 'parkway deploy Qwen/Qwen3-8B --tier l40s_48gb --budget 5 --yes',
  define: (command) =>
    command
      .argument('[hub id]', 'the model, such as Qwen/Qwen3-8B, or the address of its page')
      .option('--tier <id>', 'the GPU, or auto for the cheapest one that fits')
      .option('--name <text>', 'its name')
      .option('--quantization <name>', 'how the weights are stored, where there is a choice')
      .option('--context <tokens>', 'the longest context, in tokens')
      .option('--budget <dollars>', 'stop it when it has cost this much')
      .option('--idle <minutes>', 'sleep after this many minutes without a request')
      .option('--max-price <dollars>', 'refuse if an hour costs more')
      .option('--revision <commit>', 'the version of the model')
      .option('--use-hf-token', 'send HF_TOKEN, for gated models')
      .option('--env <name=value>', 'a variable of the engine, more than once for several', collect)
      .option('--no-follow', 'print the deployment and end')
      .option('-y, --yes', 'do not ask'),
  async act(context, options, model) {
    const { output, isJson, printJson } = context
    // The address of a page may name the version too.
    const revision = options.revision ?? (model === undefined ? null : readHubId(model).revision)
    const settings = describeSettings({ ...options, ...(revision !== null && { revision }) })
    const gateway = context.connect()
    const order = await completeOrder(context, gateway, { model, tier: options.tier, settings })
    await requireConsent(
      `Deploy ${printable(order.huggingface_id)} on ${order.gpu_tier}${order.price === null ? '' : ` for ${formatUsd(order.price)} an hour`}?`,
      options.yes === true,
    )
    const body = { ...settings, huggingface_id: order.huggingface_id, gpu_tier: order.gpu_tier }
    // Ctrl-C during the request takes effect after its answer, because stopping needs the id of the deployment.
    const deployment = await interruptible(async (signal) => {
      const created = await gateway.call((routes) => routes.POST('/v1/deployments', { body }))
      if (!options.follow) return created
      output.note(`Deployment ${printable(created.id)}. Ctrl-C ends only the waiting.`)
      return followStart(gateway, created.id, {
        signal,
        onEvent: (event) => output.note(describeEvent(event)),
      })
    })
    if (isJson) return printJson(deployment)
    output.line(printable(deployment.id))
    if (!options.follow) return
    output.note(printable(`It answers: parkway chat -m ${deployment.model_id} "Hello!"`))
    output.note(
      printable(
        `It costs ${formatUsd(deployment.hourly_cost)} an hour: parkway deploy stop ${deployment.id}`,
      ),
    )
  },
})

type Settings = ReturnType<typeof describeSettings>

function describeSettings(options: CreateOptions) {
  const { name, quantization, context, budget, idle, maxPrice, revision, useHfToken, env } = options
  if (useHfToken === true && !process.env.HF_TOKEN)
    throw new CommandFailure(EXIT.usage, 'HF_TOKEN is not set.')
  return {
    ...(name === undefined ? {} : { name }),
    ...(quantization === undefined ? {} : { quantization }),
    ...(context === undefined
      ? {}
      : { max_model_len: parseWhole('--context', context, { max: 10_000_000 }) }),
    ...(budget === undefined ? {} : { budget_limit_usd: parseUsd('--budget', budget) }),
    ...(idle === undefined ? {} : { idle_timeout_minutes: parseWhole('--idle', idle, { max: 100_000 }) }),
    ...(maxPrice === undefined ? {} : { expected_max_price_per_hr: parseUsd('--max-price', maxPrice) }),
    ...(revision === undefined ? {} : { revision }),
    ...(useHfToken === true ? { hf_token: process.env.HF_TOKEN } : {}),
    ...(env === undefined ? {} : { env: Object.fromEntries(env.map(parseVariable)) }),
  }
}

function parseVariable(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new CommandFailure(EXIT.usage, '--env takes a name and a value, such as LOG_LEVEL=debug.')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Finds what was not given: from the person, or with `auto` from the gateway. */
async function completeOrder(
  context: CommandContext,
  gateway: GatewayClient,
  { model, tier, settings }: { model: string | undefined; tier: string | undefined; settings: Settings },
): Promise<{ huggingface_id: string; gpu_tier: string; price: number | null }> {
  if (model === undefined && !isInteractive())
    throw new CommandFailure(EXIT.usage, 'Name a model of the hub, such as Qwen/Qwen3-8B.')
  const named = model ?? (await (await import('../../deployments/ask-deployment.ts')).askModel(gateway))
  const { id: hubId } = readHubId(named)
  const validation = await validate(gateway, hubId, settings)
  const isTierKnown = tier !== undefined && tier !== AUTOMATIC
  report(context, validation, { isFinal: !isTierKnown })
  if (isTierKnown) {
    const { data } = await gateway.call((routes) => routes.GET('/v1/gpu-tiers'))
    const price = data.find(({ id }) => id === tier)?.price_per_hour_usd ?? null
    return { huggingface_id: hubId, gpu_tier: tier, price }
  }
  const { quantization, max_model_len } = settings
  const fits = await compareTiers(gateway, { huggingface_id: hubId, quantization, max_model_len })
  const chosen = await chooseTier(context, fits, tier === AUTOMATIC)
  return { huggingface_id: hubId, gpu_tier: chosen.tier.id, price: chosen.tier.price_per_hour_usd }
}

function validate(
  gateway: GatewayClient,
  hubId: string,
  { quantization, max_model_len, hf_token }: Settings,
): Promise<Schemas['HubValidation']> {
  const body = { huggingface_id: hubId, quantization, max_model_len, hf_token }
  return gateway.call((routes) => routes.POST('/v1/hf/validate', { body }))
}

/** Tells what the hub knows of the model. With a tier that was named, the gateway decides: it may run without the hub. */
function report(
  { output }: CommandContext,
  validation: Schemas['HubValidation'],
  { isFinal }: { isFinal: boolean },
): void {
  const { model_id: id, valid, errors, warnings, parameters, architecture, format, license } = validation
  const notes = valid || isFinal ? warnings : [...errors, ...warnings]
  for (const note of notes) output.note(`Note: ${printable(note)}`)
  if (!valid && isFinal)
    throw new CommandFailure(
      EXIT.failed,
      `${printable(id)} cannot be deployed: ${errors.map(printable).join(' ')}`,
    )
  if (!valid) return
  const size = parameters === null ? '' : `, ${(parameters / 1e9).toFixed(1)} billion parameters`
  output.note(
    printable(`${id}: ${architecture ?? format ?? 'model'}${size}, licence ${license ?? 'unknown'}`),
  )
}

async function chooseTier(
  { output }: CommandContext,
  fits: readonly TierFit[],
  isAutomatic: boolean,
): Promise<TierFit> {
  const [cheapest] = fits.filter(({ preview }) => preview.compatible)
  const toScreen = { ...output, line: (text: string) => output.note(text) }
  if (cheapest === undefined) {
    printTable(toScreen, TIER_COLUMNS, fits)
    throw new CommandFailure(
      EXIT.failed,
      'The model fits on no tier.',
      'Try a shorter --context or a --quantization.',
    )
  }
  if (isAutomatic) return fits.find(({ preview }) => preview.fit === 'fits') ?? cheapest
  if (!isInteractive()) {
    printTable(toScreen, TIER_COLUMNS, fits)
    throw new CommandFailure(EXIT.usage, 'Choose a GPU with --tier, or --tier auto.')
  }
  const { askTier } = await import('../../deployments/ask-deployment.ts')
  const chosen = await askTier(fits)
  return fits.find(({ tier }) => tier.id === chosen) ?? cheapest
}
