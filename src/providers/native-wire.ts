/** Wires besides the chat form that an upstream may speak itself. */
export const NATIVE_WIRES = ['anthropic-messages', 'openai-responses'] as const

export type NativeWire = (typeof NATIVE_WIRES)[number]

/** What a provider looks at of a request that it passes on in the wire it came in. */
export interface NativeRequest {
  readonly model: string
  readonly stream?: boolean | null
}

export function isNativeWire(name: string): name is NativeWire {
  return NATIVE_WIRES.some((known) => known === name)
}
