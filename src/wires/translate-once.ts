/** Remembers the translation of each request: it is needed for the estimate and for every attempt that sends it. */
export function translateOnce<Request extends object, Translated>(
  translate: (request: Request) => Translated,
): (request: Request) => Translated {
  const translations = new WeakMap<Request, Translated>()
  return (request) => {
    const known = translations.get(request)
    if (known !== undefined) return known
    const translated = translate(request)
    translations.set(request, translated)
    return translated
  }
}
