/** People copy the id of a deployment or that of its model, which begins with `byom-`. */
export function toDeploymentId(word: string): string {
  return word.replace(/^byom-/, '')
}
