/** Wires besides the chat form that an upstream may speak natively. */
export const NATIVE_WIRES = ['anthropic-messages', 'openai-responses'] as const

export type NativeWire = (typeof NATIVE_WIRES)[number]

/** The members that a provider reads from a request that it forwards in its original wire. */
export interface NativeRequest {
  readonly model: string
  readonly stream?: boolean | null
}

/** Returns how a provider serves a model in a wire natively, or undefined if it does not. */
export function nativeOf<Send>(
  wire: NativeWire,
  { native, isNative }: NativeProvider<Send>,
  upstreamModel: string,
): Send | undefined {
  return isNative?.(upstreamModel) === false ? undefined : native?.[wire]
}

interface NativeProvider<Send> {
  readonly native?: Readonly<Partial<Record<NativeWire, Send>>>
  readonly isNative?: (upstreamModel: string) => boolean
}

export function isNativeWire(name: string): name is NativeWire {
  return NATIVE_WIRES.some((known) => known === name)
}
