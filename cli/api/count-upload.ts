interface CountedUpload {
  readonly body: ReadableStream<Uint8Array>
  readonly contentType: string
}

/** Encodes a form as a stream that tells how many bytes were taken from it. Its files are read while they are sent. */
export function countUpload(form: FormData, onSent: (bytes: number) => void): CountedUpload {
  const encoded = new Response(form)
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
