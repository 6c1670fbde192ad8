export function writeGeneratedApp(dir: string, units: number): void;
export function generatedApp(units: number): Record<string, string>;
export function viewFile(unit: number): string;
