/** A known model: the relevant part of its config, its size on the hub, and published figures of its memory. */
export interface KnownModel {
  readonly id: string
  /** Public repositories that contain the same facts. */
  readonly seenIn: string
  readonly config: Readonly<Record<string, unknown>>
  readonly parameters: number
  /** The size of all tensors on the hub: `total_size` of the index of the safetensors files, without a tied output layer. */
  readonly storedBytes: number
  /** Size of the weights in gigabytes, by quantization. */
  readonly publishedWeightsGb: Readonly<Record<string, number>>
  /** Size of the KV cache of one request in bytes, by its number of tokens. */
  readonly publishedCacheBytes: Readonly<Record<number, number>>
}
