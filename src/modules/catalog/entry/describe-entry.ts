import { toTimestamp } from '../../../kernel/clock.ts'
import type { CatalogModel, ModelBounds, ModelRoute } from '../catalog-model.ts'
import { toPriceCard } from '../model-card/model-card.ts'

/** Returns a model as an entry of the catalog file. */
export function describeEntry(model: CatalogModel): Record<string, unknown> {
  return withoutNulls({
    id: model.id,
    name: model.displayName,
    vendor: model.vendor,
    category: model.category,
    released: toDay(model.createdAt),
    retires: model.retiresAt === undefined ? null : toDay(model.retiresAt),
    successor: model.successor ?? null,
    ...describeLifeCycle(model),
    context_tokens: model.contextTokens,
    max_output_tokens: model.maxOutputTokens,
    dimensions: model.dimensions,
    capabilities: [...model.capabilities],
    price: { ...toPriceCard(model.price), listed: model.price.unit !== 'token' || model.isPriceListed },
    routes: model.routes.map(describeRoute),
    aliases: [...model.aliases],
    delivery: model.delivery,
    bounds: describeBounds(model.bounds),
    listed: model.isListed,
  })
}

function withoutNulls(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

function describeLifeCycle({ lifeCycle }: CatalogModel): Record<string, unknown> {
  if (lifeCycle === undefined) return {}
  const { availableFromMs, deprecatedFromMs, shutdownMs, isSucceeded } = lifeCycle
  return {
    available_from: availableFromMs === null ? null : toTimestamp(availableFromMs),
    deprecated_from: deprecatedFromMs === null ? null : toTimestamp(deprecatedFromMs),
    shutdown_at: shutdownMs === null ? null : toTimestamp(shutdownMs),
    successor_answers: isSucceeded ? true : null,
  }
}

function toDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}

function describeRoute({ provider, model, priority, weight, timeouts, cost }: ModelRoute) {
  const { connectMs, firstByteMs, idleMs } = timeouts
  return {
    provider,
    model,
    priority,
    weight,
    timeouts: {
      ...(connectMs === undefined ? {} : { connect_ms: connectMs }),
      ...(firstByteMs === undefined ? {} : { first_byte_ms: firstByteMs }),
      ...(idleMs === undefined ? {} : { idle_ms: idleMs }),
    },
    ...(cost === undefined ? {} : { cost: toPriceCard(cost.price) }),
  }
}

function describeBounds(bounds: ModelBounds): Record<string, unknown> {
  const { durations } = bounds
  return withoutNulls({
    images_max: bounds.imagesMax,
    sizes: bounds.sizes,
    size_default: bounds.sizeDefault,
    qualities: bounds.qualities,
    quality_default: bounds.qualityDefault,
    aspect_ratios: bounds.aspectRatios,
    resolutions: bounds.resolutions,
    resolution_default: bounds.resolutionDefault,
    response_format_default: bounds.responseFormatDefault,
    duration_seconds:
      durations === null
        ? null
        : (durations.allowedSeconds ?? { min: durations.minSeconds, max: durations.maxSeconds }),
    duration_default_seconds: durations?.defaultSeconds ?? null,
    dimensions: bounds.dimensions,
  })
}
