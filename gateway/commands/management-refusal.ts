// The reason that the management port gives for a refusal.

/** Undefined if another program answers there. */
export function managementError(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}
