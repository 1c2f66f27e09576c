/** A Stripe object, with the fields that its reference names. */
// oxlint-disable-next-line typescript/no-explicit-any -- objects of another's wire, read by tests that fail loudly
export type StripeObject = Record<string, any>

export interface StripeEvent extends StripeObject {
  readonly id: string
  readonly type: string
}

let lastNumber = 0
export const nextId = (prefix: string): string => {
  lastNumber += 1
  return `${prefix}_${lastNumber.toString().padStart(8, '0')}`
}

/** Copies the object, so that later changes do not affect an event that was sent. */
export function eventOf(type: string, object: StripeObject): StripeEvent {
  return {
    id: nextId('evt'),
    object: 'event',
    api_version: '2026-10-28.endive',
    created: Math.floor(Date.now() / 1000),
    livemode: false,
    pending_webhooks: 1,
    request: null,
    type,
    data: { object: structuredClone(object) },
  }
}

export function membersOf(params: URLSearchParams, name: string): Record<string, string> {
  return Object.fromEntries(
    [...params]
      .filter(([key]) => key.startsWith(`${name}[`))
      .map(([key, value]) => [key.slice(name.length + 1, -1), value]),
  )
}
