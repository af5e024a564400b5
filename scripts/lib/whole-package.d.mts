export const COPIED: Record<string, string>;
export function missingFiles(root: string, exists?: (file: string) => boolean): string[];
