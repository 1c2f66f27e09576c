import { shortenBody, type ApiCall } from './api-call.ts'

/** Writes a call as a command of a shell. */
export function writeCurl({ path, body, files = {}, savedAs }: ApiCall, origin: string): string {
  const lines = [`curl ${origin}${path}`, '-H "Authorization: Bearer $PARKWAY_API_KEY"']
  if (Object.keys(files).length > 0) {
    for (const [field, name] of Object.entries(files)) lines.push(`-F ${field}=@${name}`)
    for (const [field, value] of Object.entries(body)) lines.push(`-F ${quote(`${field}=${asField(value)}`)}`)
  } else {
    lines.push("-H 'Content-Type: application/json'")
    lines.push(`-d ${quote(JSON.stringify(shortenBody(body), null, 2))}`)
  }
  if (body['stream'] === true) lines.push('--no-buffer')
  if (savedAs) lines.push(`-o ${savedAs}`)
  return lines.join(' \\\n  ')
}

function asField(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
