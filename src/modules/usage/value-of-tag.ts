/** SQL for the value of a tag: its label without `tag:name=`. */
export function valueOfTag(label: string, prefix: string): string {
  return `substr(${label}, length(${prefix}) + 1)`
}
