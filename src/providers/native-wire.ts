/** Wires besides the chat form that an upstream may speak natively. */
export const NATIVE_WIRES = ['anthropic-messages', 'openai-responses'] as const

export type NativeWire = (typeof NATIVE_WIRES)[number]

/** The members that a provider reads from a request that it forwards in its original wire. */
export interface NativeRequest {
  readonly model: string
  readonly stream?: boolean | null
}

export function isNativeWire(name: string): name is NativeWire {
  return NATIVE_WIRES.some((known) => known === name)
}
