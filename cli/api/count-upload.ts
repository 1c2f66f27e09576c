interface CountedUpload {
  readonly body: ReadableStream<Uint8Array>
  readonly contentType: string
}

/** Encodes a body as a stream that tells how many bytes were taken from it. Files of a form are read while they are sent. */
export function countUpload(body: string | FormData, onSent: (bytes: number) => void): CountedUpload {
  // A blob is read in pieces.
  const encoded = new Response(typeof body === 'string' ? new Blob([body]) : body)
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      onSent(bytes.length)
      controller.enqueue(bytes)
    },
  })
  return {
    body: (encoded.body ?? new ReadableStream()).pipeThrough(counter),
    contentType: encoded.headers.get('content-type') ?? 'multipart/form-data',
  }
}
