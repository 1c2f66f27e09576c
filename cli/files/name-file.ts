/** Names that Windows keeps for devices, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i
const NAME_LENGTH_MAX = 120

/** Makes one name of text from the gateway: no directories, and nothing that a file system refuses or means otherwise. */
export function toFileName(text: string): string {
  const name = text
    .replaceAll(/[^\w.-]/g, '_')
    // A leading dot hides a file, and Windows drops trailing ones.
    .replaceAll(/^\.+|\.+$/g, '_')
    .slice(-NAME_LENGTH_MAX)
  return RESERVED.test(name) || name === '' ? `_${name}` : name
}
