// The types of imported assets. Referenced by the entry points "tsweb" and "tsweb/browser".
declare module "*.css";
declare module "*.module.css" {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module "*.scss";
declare module "*.module.scss" {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module "*.less";
declare module "*.module.less" {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module "*.svg" {
  const url: string;
  export default url;
}
declare module "*.png" {
  const url: string;
  export default url;
}
declare module "*.jpg" {
  const url: string;
  export default url;
}
declare module "*.jpeg" {
  const url: string;
  export default url;
}
declare module "*.gif" {
  const url: string;
  export default url;
}
declare module "*.webp" {
  const url: string;
  export default url;
}
declare module "*.avif" {
  const url: string;
  export default url;
}
declare module "*.woff2" {
  const url: string;
  export default url;
}
declare module "*?url" {
  const url: string;
  export default url;
}
